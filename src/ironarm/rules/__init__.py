"""What algorithms share: how an arm is chosen, once there are estimates."""
