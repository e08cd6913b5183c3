"""A folder as a model hub holds it: the weights of a run, the files of the model, and what was checked of them."""
