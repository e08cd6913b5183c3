"""Views, copies, paddings, constants, and the gradients of views: what moves elements and makes new ones."""
