/// How fast a form's body is given: small packets with pauses between them.
struct MultipartThrottle: Sendable {
    let packetSize: Int
    let delay: Duration
    let clock: any Clock<Duration>
}

extension MultipartForm {
    /// Holds the body back: it is given in packets of at most `packetSize` bytes, and before each but the first there is
    /// a pause.
    ///
    /// For networks that drop connections which send too much at once. It holds for each replay, too. Cancelling the task
    /// that reads the body ends a pause.
    ///
    /// - Parameters:
    ///   - packetSize: In bytes; the default is 16,384. Below 1 it is 1.
    ///   - delay: The default is 0.2 seconds, which makes 80 KB a second. Below zero it is zero; above a century
    ///     it is one.
    ///   - clock: What measures the pauses.
    public mutating func throttle(
        packetSize: Int = 16 * 1024, delay: Duration = .milliseconds(200),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        // Clocks end the process when they are told to sleep for more seconds than an Int64 has.
        let pause = min(max(.zero, delay), .seconds(Int64(100 * 365 * 86_400)))
        throttling = MultipartThrottle(packetSize: max(1, packetSize), delay: pause, clock: clock)
    }
}
