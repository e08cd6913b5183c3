"""What the window knows, without a widget: the session, its steps, the settings."""
