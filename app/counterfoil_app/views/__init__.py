"""The window's views; each shows one side of a :class:`~counterfoil_app.model.session.Session`."""
