internal import FoundationEssentials
public import LinnetSerialization

/// The values of a response of newline-delimited JSON, in the order of their arrival.
public struct JSONLineSequence<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    /// The value of a line.
    public typealias Element = Value
    /// The error of the sequence.
    public typealias Failure = SessionError

    let body: HTTPResponseBody
    let decoder: JSONBodyDecoder
    let limit: Int

    /// Creates the reader. A streamed body has only one.
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

        /// Returns the next value, or nil at the end.
        public mutating func next() async throws(SessionError) -> Value? {
            while let line = try await lines.next() {
                number += 1
                if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
                do {
                    return try decoder.decode(Value.self, from: Data(line))
                } catch {
                    throw SessionError(
                        .decodingFailed, "Line \(number) is not the expected JSON: \(SessionError.cause(error))",
                        underlying: error, url: url)
                }
            }
            return nil
        }

        /// Returns the next value, or nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SessionError) -> Value? {
            try await next()
        }
    }
}

extension HTTPResponseBody {
    /// Returns the values of a body of newline-delimited JSON, as they arrive: one on each line, which ends with LF.
    /// Empty lines are skipped.
    ///
    /// Iteration throws ``SessionError/Code/decodingFailed`` for a line that cannot be decoded, and
    /// ``SessionError/Code/bodyTooLarge`` for a line that is longer than the limit.
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - decoder: The decoder of each line.
    ///   - limit: The maximum size of a line in bytes. The default is 1 MiB.
    public func jsonLines<Value: Decodable & Sendable>(
        as type: Value.Type, decoder: JSONBodyDecoder = JSONBodyDecoder(),
        upTo limit: Int = HTTPResponseBody.defaultLineLimit
    ) -> JSONLineSequence<Value> {
        JSONLineSequence(body: self, decoder: decoder, limit: limit)
    }

    /// Returns the values of a body of newline-delimited JSON, as they arrive, as `JSONValue`s.
    public func jsonLines(upTo limit: Int = HTTPResponseBody.defaultLineLimit) -> JSONLineSequence<JSONValue> {
        jsonLines(as: JSONValue.self, upTo: limit)
    }
}
