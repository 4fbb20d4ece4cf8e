internal import FoundationEssentials
internal import LinnetTransport

/// A layer of a streamed body: a source of bytes, or a transformation of the body below it.
///
/// A new layer only defines its reading; everything else comes from its base.
protocol ResponseBodyLayer: Sendable {
    /// The body below; nil for a source of bytes.
    var base: HTTPResponseBody? { get }
    /// Whether the bytes still come from a connection.
    var isOfConnection: Bool { get }
    /// The connection that has switched protocols.
    var upgraded: UpgradedConnection? { get }
    /// The final metrics and the trailers, after the end was read.
    var completion: TransportResponseBody.Completion? { get }
    /// The final metrics of the attempt, after the end was read.
    var finalMetrics: TransportMetrics? { get }
    /// The URL of the response, if it is known.
    var url: URL? { get }

    /// Claims the body for a reader. Returns true for the first one. A layer whose base has a claim returns true.
    func claimReader() -> Bool
    func makeSource() -> any ResponseBodySource
}

extension ResponseBodyLayer {
    var isOfConnection: Bool { base?.isOfConnection ?? false }
    var upgraded: UpgradedConnection? { base?.upgraded }
    var completion: TransportResponseBody.Completion? { base?.completion }
    var finalMetrics: TransportMetrics? { base.map(\.finalMetrics) ?? completion?.metrics }
    var url: URL? { base?.url }

    func claimReader() -> Bool { true }
}

/// The body that the transport streams. The transport allows one reader.
struct TransportBody: ResponseBodyLayer {
    private let body: TransportResponseBody
    private let responseURL: URL

    init(base body: TransportResponseBody, url: URL) {
        self.body = body
        responseURL = url
    }

    var base: HTTPResponseBody? { nil }
    var isOfConnection: Bool { true }
    var upgraded: UpgradedConnection? { body.upgraded }
    var completion: TransportResponseBody.Completion? { body.completion }
    var url: URL? { responseURL }

    func makeSource() -> any ResponseBodySource {
        TransportSource(iterator: body.makeAsyncIterator(), url: responseURL)
    }
}
