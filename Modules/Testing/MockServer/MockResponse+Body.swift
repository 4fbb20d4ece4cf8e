public import FoundationEssentials

extension MockResponse {
    /// The bytes of a response, and how their end is marked.
    public struct Body: Sendable {
        enum Storage: Sendable {
            case bytes(Data)
            case untilClose(Data)
            case stream(length: Int?, @Sendable (MockResponseWriter) async throws -> Void)
            case raw([UInt8])
        }

        let storage: Storage

        init(_ storage: Storage) {
            self.storage = storage
        }

        /// How many bytes there are, where that is known and may be said.
        var length: Int? {
            switch storage {
            case .bytes(let bytes): bytes.count
            case .stream(let length, _): length
            case .untilClose, .raw: nil
            }
        }

        var isRaw: Bool { if case .raw = storage { true } else { false } }

        /// No bytes.
        public static let empty = Body(.bytes(Data()))

        /// Bytes with a Content-Length.
        public static func bytes(_ bytes: Data) -> Body {
            Body(.bytes(bytes))
        }

        /// Text in UTF-8, with a Content-Length.
        public static func text(_ text: String) -> Body {
            Body(.bytes(Data(text.utf8)))
        }

        /// Chunked coding (RFC 9112, 7.1), each piece a chunk; empty pieces are left out.
        public static func chunks(_ pieces: [Data]) -> Body {
            Body(.stream(length: nil) { writer in for piece in pieces { try await writer.write(piece) } })
        }

        /// Pieces as a sequence yields them, each sent at once: chunked, or with a Content-Length when the length is
        /// given.
        ///
        /// The sequence is pulled as the client takes the bytes. When it throws, the connection is closed in the middle
        /// of the body; over HTTP/2 the stream is reset with INTERNAL_ERROR.
        public static func stream<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces, length: Int? = nil) -> Body
        where Pieces.Element == Data {
            Body(.stream(length: length) { writer in for try await piece in pieces { try await writer.write(piece) } })
        }

        /// Bytes whose end is the connection's (RFC 9112, 6.3, case 8): no Content-Length, no chunks.
        public static func untilClose(_ bytes: Data) -> Body {
            Body(.untilClose(bytes))
        }
    }
}
