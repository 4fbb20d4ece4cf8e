/// An active test of the network, which distinguishes a working connection from a captive portal or a dead router.
///
/// ```swift
/// let monitor = try ReachabilityMonitor {
///     $0.probe = .connection(to: "example.com", port: 443)
/// }
/// ```
/// A probe runs after each change of the path, and again after a failure while there is a path, at most once per
/// ``interval``. Its result is ``ReachabilityStatus/isConfirmed``. By default, monitors have no probe and send nothing.
public struct ReachabilityProbe: Sendable {
    enum Check: Sendable {
        case connection(host: String, port: UInt16, timeout: Duration)
        case custom(@Sendable () async -> Bool)
    }

    let check: Check

    /// The minimum time between the starts of two probes. The default is 60 seconds; values below 1 second count as 1
    /// second.
    public var interval: Duration = .seconds(60)

    /// A probe that opens and closes a TCP connection.
    ///
    /// Many captive portals accept connections for other hosts, so the result shows only that something answers. To
    /// recognize portals, request a URL with a known response in a ``check(_:)``.
    ///
    /// - Parameters:
    ///   - host: The host's name or address.
    ///   - port: The TCP port.
    ///   - timeout: The time limit for one of the host's addresses to accept. The default is 5 seconds. Beyond it, the
    ///     probe has failed.
    public static func connection(to host: String, port: UInt16, timeout: Duration = .seconds(5)) -> ReachabilityProbe {
        ReachabilityProbe(check: .connection(host: host, port: port, timeout: timeout))
    }

    /// A custom probe, for example a request whose answer is 204 (No Content).
    ///
    /// - Parameter check: Returns whether the network works. It is called on the global concurrent executor, never
    ///   twice at a time. Its task is cancelled when the monitor stops; its cancellation handlers are called on the
    ///   same executor, and ``ReachabilityMonitor/stop()`` does not wait for them. No other probe starts until it
    ///   returns.
    public static func check(_ check: @escaping @Sendable () async -> Bool) -> ReachabilityProbe {
        ReachabilityProbe(check: .custom(check))
    }

    private init(check: Check) { self.check = check }
}
