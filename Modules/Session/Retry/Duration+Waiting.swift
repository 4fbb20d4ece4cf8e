extension Duration {
    /// The longest that anything here waits: a hundred years. Clocks end the process when they are told to sleep for more
    /// seconds than an `Int64` has, and a server or a caller can ask for that.
    static let longestWait = Duration.seconds(Int64(100 * 365 * 86_400))

    /// The duration, or the longest that can be waited for.
    var waitable: Duration { min(self, .longestWait) }
}
