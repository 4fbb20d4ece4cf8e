internal import FoundationEssentials
internal import LinnetCompression
internal import LinnetTransport

/// The body of a response with content codings. Its reader decodes it.
///
/// The reader decodes in its own task, never on an event loop, and takes coded bytes only after it has decoded the
/// previous ones: backpressure reaches the connection.
final class DecodedBody: ResponseBodyLayer {
    let coded: HTTPResponseBody
    /// The codings in the order of their application, or the reason why they are unknown.
    let codings: Result<[ContentCoding], CompressionError>
    let limits: DecodingLimits
    let responseURL: URL
    private let claim = ReaderClaim()

    init(
        base: HTTPResponseBody, codings: Result<[ContentCoding], CompressionError>, limits: DecodingLimits, url: URL
    ) {
        coded = base
        self.codings = codings
        self.limits = limits
        responseURL = url
    }

    var base: HTTPResponseBody? { coded }
    var url: URL? { responseURL }

    func claimReader() -> Bool { claim.take() }

    func makeSource() -> any ResponseBodySource { DecodedSource(self) }

    func makeDecoder() throws(CompressionError) -> ContentDecoder {
        try ContentDecoder(codings.get(), limits: limits)
    }
}

struct DecodedSource: ResponseBodySource {
    private var base: HTTPResponseBody.Iterator
    private let body: DecodedBody
    private var decoder: ContentDecoder?

    init(_ body: DecodedBody) {
        base = body.coded.makeAsyncIterator()
        self.body = body
    }

    mutating func next() async throws(SessionError) -> Data? {
        guard let decoder else {
            self.decoder = try await makeDecoder()
            return try await next()
        }
        while true {
            // One chunk can become many pieces, between which nothing else would notice the cancellation.
            guard !Task.isCancelled else { throw .cancelled(body.url) }
            if let piece = try step({ () throws(CompressionError) in try decoder.next() }) { return piece }
            guard let chunk = try await base.next() else {
                try step { () throws(CompressionError) in try decoder.finish() }
                return nil
            }
            decoder.append(chunk)
        }
    }

    /// Throws with the first bytes of the body if its codings are unknown.
    private mutating func makeDecoder() async throws(SessionError) -> ContentDecoder {
        do throws(CompressionError) {
            return try body.makeDecoder()
        } catch {
            var failure = SessionError(error, url: body.url)
            failure.body = await base.collectErrorBody()
            throw failure
        }
    }

    private func step<Value>(_ step: () throws(CompressionError) -> Value) throws(SessionError) -> Value {
        do throws(CompressionError) {
            return try step()
        } catch {
            throw SessionError(error, url: body.url)
        }
    }
}

extension SessionError {
    /// Creates the session error for content that could not be decoded.
    init(_ error: CompressionError, url: URL?) {
        let isTooLarge = error.code == .sizeExceeded || error.code == .ratioExceeded
        self.init(
            isTooLarge ? .bodyTooLarge : .contentDecodingFailed, error.message, underlying: error, url: url)
    }
}
