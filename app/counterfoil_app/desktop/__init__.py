"""What the desktop around the window offers long jobs: notifications, progress on the task bar, staying awake."""
