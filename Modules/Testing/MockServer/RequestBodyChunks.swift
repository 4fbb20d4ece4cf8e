public import FoundationEssentials
internal import NIOCore

/// A request's body, piece by piece.
///
/// Nothing is read from the client before it is asked for here, so that a handler can also be slow on purpose.
public struct RequestBodyChunks: AsyncSequence, Sendable {
    /// The bytes, as they came.
    public typealias Element = Data

    enum Storage: Sendable {
        case bytes(Data)
        case live(RequestBodyReader)
    }

    let storage: Storage

    init(_ storage: Storage) {
        self.storage = storage
    }

    /// Makes the reader.
    public func makeAsyncIterator() -> Iterator {
        Iterator(storage: storage)
    }

    /// All bytes that are still to come.
    ///
    /// Fails as iterating does.
    public func collect() async throws -> Data {
        var all = Data()
        for try await chunk in self { all.append(chunk) }
        return all
    }

    /// Reads a request's body.
    public struct Iterator: AsyncIteratorProtocol {
        var storage: Storage?

        /// The next bytes, or nil at the end.
        ///
        /// Fails with ``TestingError/Code/connectionClosed`` when the client went away before the end.
        public mutating func next() async throws -> Data? {
            switch storage {
            case .bytes(let data):
                storage = nil
                return data.isEmpty ? nil : data
            case .live(let reader):
                return try await reader.next().map { Data($0.readableBytesView) }
            case nil:
                return nil
            }
        }
    }
}
