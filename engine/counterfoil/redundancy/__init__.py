"""Shares that several parties compute each, so that those who lie contradict somebody who does not."""
