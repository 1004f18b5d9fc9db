"""Write recalled memories as text: choose sentences, a frame and labels."""
