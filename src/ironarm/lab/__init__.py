"""Many simulations and what they show: studies, the arena, sweeps, router scenarios."""
