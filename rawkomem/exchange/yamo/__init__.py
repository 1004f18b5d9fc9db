"""Read and write databases of YAMO's memory-mesh: LanceDB folders with the tables of RFC-0011."""
