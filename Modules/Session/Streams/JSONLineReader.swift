internal import FoundationEssentials
public import LinnetSerialization

/// Reads the values of newline-delimited JSON.
private struct JSONLineReader<Value: Decodable & Sendable>: ElementReader {
    var lines: LineReader
    let decoder: JSONBodyDecoder
    let url: URL?
    var number = 0

    mutating func next() async throws(SessionError) -> Value? {
        while let line = try await lines.next() {
            number += 1
            // With CR, which comes before the LF of some servers.
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
}

extension HTTPResponseBody {
    /// Returns the values of a body of newline-delimited JSON, as they arrive: one on each line, which ends with LF.
    /// Empty lines are skipped.
    ///
    /// Iteration throws ``SessionError/Code/decodingFailed`` for a line that cannot be decoded, and
    /// ``SessionError/Code/bodyTooLarge`` for a line that is longer than the limit. A streamed body has only one
    /// reader.
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - decoder: The decoder of each line.
    ///   - limit: The maximum size of a line in bytes. The default is 1 MiB. Exceeding it is
    ///     ``SessionError/Code/bodyTooLarge``.
    public func jsonLines<Value: Decodable & Sendable>(
        as type: Value.Type, decoder: JSONBodyDecoder = JSONBodyDecoder(),
        upTo limit: Int = HTTPResponseBody.defaultLineLimit
    ) -> some AsyncSequence<Value, SessionError> & Sendable {
        ElementSequence {
            JSONLineReader<Value>(lines: LineReader(self, .lineFeed, limit: limit), decoder: decoder, url: self.url)
        }
    }

    /// Returns the values of a body of newline-delimited JSON, as they arrive, as `JSONValue`s.
    public func jsonLines(
        upTo limit: Int = HTTPResponseBody.defaultLineLimit
    ) -> some AsyncSequence<JSONValue, SessionError> & Sendable {
        jsonLines(as: JSONValue.self, upTo: limit)
    }
}
