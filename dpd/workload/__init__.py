"""What self-managed workers and routers are started with: configuration in, plain words out."""
