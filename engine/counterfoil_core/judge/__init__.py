"""What is said of a step that differs: judgement, arbiters, exact elements, where it parts and why."""
