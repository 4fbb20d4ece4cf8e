internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetCompression
internal import LinnetSerialization

extension SessionRequest {
    /// Encodes the body, and sets Content-Encoding (RFC 9110, section 8.4). A request without bytes is unchanged.
    mutating func encodeBody(in coding: ContentCoding) throws(SessionError) {
        guard let plain = body, plain.data?.isEmpty != true else { return }
        do throws(CompressionError) {
            body = try plain.encoded(in: coding)
        } catch {
            throw SessionError(
                .encodingFailed, "The request's body could not be encoded: \(error.message)", underlying: error,
                url: url)
        }
        headerFields[.contentEncoding] = headerFields[.contentEncoding].map { "\($0), \(coding.name)" } ?? coding.name
        headerFields[.contentLength] = nil
    }
}

extension HTTPRequestBody {
    /// Bytes in memory up to this number are encoded before they are sent, so that their length is known: 1 MiB.
    private static var limitInMemory: Int { 1 << 20 }

    /// The body in a coding; it can be replayed if this one can.
    func encoded(in coding: ContentCoding) throws(CompressionError) -> HTTPRequestBody {
        if let data, data.count <= Self.limitInMemory { return .data(try coding.encoded(data)) }
        // This is a check: without it, a coding without an encoder would fail only when the body is sent.
        _ = try ContentEncoder(coding)
        return .stream(length: nil, isReplayable: isReplayable, replayObstacle: replayObstacle) { threads in
            EncodedBodyReader(
                base: try makeReader(readingFilesOn: threads), encoder: try ContentEncoder(coding))
        }
    }
}

/// Encodes the chunks of another reader.
private struct EncodedBodyReader: HTTPRequestBodyReader {
    var base: any HTTPRequestBodyReader
    let encoder: ContentEncoder
    private var isAtEnd = false

    init(base: any HTTPRequestBodyReader, encoder: ContentEncoder) {
        self.base = base
        self.encoder = encoder
    }

    mutating func next() async throws -> Data? {
        while true {
            if let piece = try encoder.next() { return piece }
            guard !isAtEnd else { return nil }
            if let chunk = try await base.next() {
                encoder.append(chunk)
            } else {
                isAtEnd = true
                encoder.finish()
            }
        }
    }
}
