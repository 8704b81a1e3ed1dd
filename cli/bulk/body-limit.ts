/** The largest body of a service that was not set otherwise. It may take more; nobody asks it. */
export const usualBodyBytes = 5 * 1024 * 1024;

export const tooLarge = 'is larger than the 5 MiB that a service takes unless it was set otherwise';
