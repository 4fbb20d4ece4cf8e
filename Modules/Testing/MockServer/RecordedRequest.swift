public import FoundationEssentials
public import HTTPTypes
public import LinnetSecurity

/// A request as a ``MockServer`` received it.
public struct RecordedRequest: Sendable {
    /// The method.
    public internal(set) var method: HTTPRequest.Method
    /// The request target as it was sent: usually a path and query.
    public internal(set) var target: String
    /// The host and port that were asked for: `:authority` over HTTP/2, the Host field before.
    public internal(set) var authority: String?
    /// The header fields, in the order and the case in which they were sent, without HTTP/2's pseudo-header fields.
    public internal(set) var headerFields: HTTPFields
    /// The protocol version: `HTTP/2`, `HTTP/1.1` or `HTTP/1.0`.
    public internal(set) var httpVersion: String
    /// The body's bytes.
    ///
    /// In streamed mode empty; read ``chunks`` there.
    public internal(set) var body = Data()
    /// How many bytes of the body have arrived.
    public internal(set) var bodyLength = 0
    /// The trailer fields after the body; nil where there were none.
    public internal(set) var trailers: HTTPFields?
    /// Whether the request has arrived to its end.
    public internal(set) var isComplete = false
    /// The connection's number, counted from 0 in the order of acceptance.
    public internal(set) var connectionIndex: Int
    /// The request's number on its connection, counted from 0: above 0 the connection was reused.
    public internal(set) var exchangeIndex: Int
    /// The request's stream; nil over HTTP/1.1.
    public internal(set) var streamID: Int?
    /// `TLSv1.2` or `TLSv1.3`; nil for plain HTTP.
    public internal(set) var tlsVersion: String?
    /// The name that the client asked for in the TLS handshake (SNI), if it did.
    public internal(set) var serverName: String?
    /// The certificate that the client showed in the TLS handshake, or in that of the session that was resumed.
    public internal(set) var clientCertificate: Certificate?
    /// The body as it arrives, in streamed mode; otherwise ``body`` in one piece.
    ///
    /// It can be read once.
    public internal(set) var chunks = RequestBodyChunks(.bytes(Data()))

    /// The target up to its query.
    public var path: String {
        target.firstIndex(of: "?").map { String(target[..<$0]) } ?? target
    }

    /// The target after its question mark; nil where there is none.
    public var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    /// ``body`` as UTF-8 text.
    public var bodyText: String { String(decoding: body, as: UTF8.self) }

    init(_ head: RequestHead, connectionIndex: Int, exchangeIndex: Int, session: ServerConnection.TLSSession?) {
        method = head.method
        target = head.target
        authority = head.authority
        headerFields = head.headerFields
        httpVersion = head.httpVersion
        streamID = head.streamID
        self.connectionIndex = connectionIndex
        self.exchangeIndex = exchangeIndex
        tlsVersion = session?.version
        serverName = session?.serverName
        clientCertificate = session?.clientCertificate.flatMap { try? Certificate(der: $0) }
    }
}
