public import HTTPTypes

/// A request as it goes to the wire.
///
/// `head` must have a scheme (`http` or `https`), an authority and a path; `Host`, `Content-Length` and
/// `Transfer-Encoding` are the transport's to write.
public struct TransportRequest: Sendable {
    /// Method, scheme, authority, path and header fields.
    public var head: HTTPRequest
    /// The bytes to send after the head. The default is none.
    public var body: TransportRequestBody?
    /// How long each step may take; a nil entry takes the transport's own value.
    public var timeouts: TransportTimeouts
    /// How the response's body is handed over. The default is `.whole`, up to 2 GiB.
    public var delivery: ResponseDelivery
    /// Whether a response that is no success is handed over as a streamed one, whatever ``delivery`` says, unless its whole
    /// body has come with its head: for those who may ask elsewhere or again, and need no body that is large. The default
    /// is false.
    public var streamsUnsuccessfulResponses = false

    /// Makes a request.
    public init(
        head: HTTPRequest,
        body: TransportRequestBody? = nil,
        timeouts: TransportTimeouts = TransportTimeouts(),
        delivery: ResponseDelivery = .whole(upTo: ResponseDelivery.defaultLimit)
    ) {
        self.head = head
        self.body = body
        self.timeouts = timeouts
        self.delivery = delivery
    }
}

/// How a response's body is handed over.
public enum ResponseDelivery: Sendable, Hashable {
    /// The response is returned when its body is complete; a body of more bytes fails with
    /// ``TransportError/Code/bodyTooLarge``.
    case whole(upTo: Int)
    /// The response is returned with its head; the body is pulled, under backpressure.
    case streamed

    /// The default limit of `.whole`: 2 GiB.
    public static let defaultLimit = 2 * 1024 * 1024 * 1024
}
