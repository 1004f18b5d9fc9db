"""Search stores and the protocol that they implement."""
