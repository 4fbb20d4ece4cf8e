internal import FoundationEssentials
public import LinnetSerialization

/// The values of a response of newline-delimited JSON, as they arrive.
public struct JSONLineSequence<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    /// A line's value.
    public typealias Element = Value
    /// A ``SessionError``.
    public typealias Failure = SessionError

    let body: ResponseBody
    let decoder: JSONBodyDecoder
    let limit: Int

    /// Makes the reader; a streamed body has one.
    public func makeAsyncIterator() -> Iterator {
        Iterator(
            lines: LineReader(body, .lineFeed, limit: limit), decoder: decoder, url: body.url, number: 0)
    }

    /// Reads values.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var lines: LineReader
        fileprivate let decoder: JSONBodyDecoder
        fileprivate let url: URL?
        fileprivate var number: Int

        /// The next value, or nil at the end.
        public mutating func next() async throws(SessionError) -> Value? {
            while let line = try await lines.next() {
                number += 1
                if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
                do {
                    return try decoder.decode(Value.self, from: Data(line))
                } catch {
                    throw SessionError(
                        .decodingFailed, "Line \(number) is not the JSON that is expected: \(error)", underlying: error,
                        url: url)
                }
            }
            return nil
        }

        /// The next value, or nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SessionError) -> Value? {
            try await next()
        }
    }
}

extension ResponseBody {
    /// The values of a body of newline-delimited JSON, as they arrive: one on each line, which ends with LF. Empty lines are
    /// skipped.
    ///
    /// A line that is not such a value fails with ``SessionError/Code/decodingFailed``, a longer one than the limit with
    /// ``SessionError/Code/bodyTooLarge``.
    public func jsonLines<Value: Decodable & Sendable>(
        as type: Value.Type, decoder: JSONBodyDecoder = JSONBodyDecoder(),
        upTo limit: Int = ResponseBody.defaultLineLimit
    ) -> JSONLineSequence<Value> {
        JSONLineSequence(body: self, decoder: decoder, limit: limit)
    }

    /// The values of a body of newline-delimited JSON, as they arrive, as JSON values.
    public func jsonLines(upTo limit: Int = ResponseBody.defaultLineLimit) -> JSONLineSequence<JSONValue> {
        jsonLines(as: JSONValue.self, upTo: limit)
    }
}
