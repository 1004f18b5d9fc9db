"""Read, rate, export and propose skills."""
