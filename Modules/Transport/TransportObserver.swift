public import HTTPTypes

/// Sees what happens to a request on its way.
///
/// The methods are called on the connection's event loop, in order; they must not block. ``priority`` and
/// ``willWait(_:)`` are called in the task that sends the request, before it has a connection.
public protocol TransportObserver: Sendable {
    /// How soon the request gets a connection, when it has to wait for one. The default is `.normal`.
    var priority: RequestPriority { get }
    /// No connection is free: the request waits for one, and can be given another priority while it does.
    func willWait(_ place: WaitingPlace)
    /// An informational response (1xx other than 101) arrived.
    func didReceiveInformational(_ head: HTTPResponse)
    /// The socket took some more bytes of the request's body.
    func didSendBody(bytes: Int)
    /// An attempt ended, well or not; another one may follow. Of one that found no connection, it is called in the task that
    /// sends the request, as soon as that goes on.
    func didFinishAttempt(_ metrics: TransportMetrics)
}

extension TransportObserver {
    /// `.normal`.
    public var priority: RequestPriority { .normal }
    /// Does nothing.
    public func willWait(_ place: WaitingPlace) {}
    /// Does nothing.
    public func didReceiveInformational(_ head: HTTPResponse) {}
    /// Does nothing.
    public func didSendBody(bytes: Int) {}
    /// Does nothing.
    public func didFinishAttempt(_ metrics: TransportMetrics) {}
}
