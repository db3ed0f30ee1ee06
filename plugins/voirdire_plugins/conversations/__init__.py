"""The papers over turns: simulated clients, and labels of what is said in conversations."""
