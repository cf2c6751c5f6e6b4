"""What providers share: HTTP, images, the limit of a reply, the first call of a client."""
