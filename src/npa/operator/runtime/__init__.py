"""What keeps an operator going, whatever it operates: caches, queue, leadership, webhook, metrics."""
