"""How things look and read, wherever they are shown: theme, icons, numbers, words."""
