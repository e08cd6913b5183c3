"""What a model answers, made token by token, and checked in one pass (docs/answers.md)."""
