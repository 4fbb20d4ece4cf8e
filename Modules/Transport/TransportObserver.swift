public import HTTPTypes

/// Sees what happens to a request on its way.
///
/// The methods are called on the connection's event loop, in order; they must not block.
public protocol TransportObserver: Sendable {
    /// An informational response (1xx other than 101) arrived.
    func didReceiveInformational(_ head: HTTPResponse)
    /// The socket took some more bytes of the request's body.
    func didSendBody(bytes: Int)
    /// An attempt ended, well or not.
    func didFinishAttempt(_ metrics: TransportMetrics)
}

extension TransportObserver {
    /// Does nothing.
    public func didReceiveInformational(_ head: HTTPResponse) {}
    /// Does nothing.
    public func didSendBody(bytes: Int) {}
    /// Does nothing.
    public func didFinishAttempt(_ metrics: TransportMetrics) {}
}
