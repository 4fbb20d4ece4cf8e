internal import FoundationEssentials
internal import LinnetCache
internal import LinnetTransport

extension HTTPResponseBody {
    /// The largest piece to read from a store for a sequential reader: 1 MiB.
    private static let storedPieceSize: Int64 = 1024 * 1024

    /// Whether a body of this size is delivered in one piece.
    static func isOnePiece(_ size: Int64, for delivery: ResponseDelivery) -> Bool {
        if case .whole(let limit) = delivery, size <= limit { return true }
        return size <= storedPieceSize
    }

    /// A range of a stored body: in one piece if it is short, or if the caller wants it whole.
    static func stored(
        _ body: any StoredBody, _ range: Range<Int64>, for delivery: ResponseDelivery
    ) async throws(CacheError) -> HTTPResponseBody {
        guard !isOnePiece(Int64(range.count), for: delivery) else { return .whole(try await body.bytes(in: range)) }
        return .streamed(StoredBodyPieces(body: body, range: range, size: storedPieceSize))
    }
}

/// A range of a stored body, piece by piece.
private struct StoredBodyPieces: AsyncSequence, Sendable {
    let body: any StoredBody
    let range: Range<Int64>
    let size: Int64

    func makeAsyncIterator() -> Iterator { Iterator(body: body, rest: range, size: size) }

    struct Iterator: AsyncIteratorProtocol {
        let body: any StoredBody
        var rest: Range<Int64>
        let size: Int64

        mutating func next() async throws -> Data? {
            guard !rest.isEmpty else { return nil }
            let end = Swift.min(rest.upperBound, rest.lowerBound + size)
            do {
                let piece = try await body.bytes(in: rest.lowerBound..<end)
                rest = end..<rest.upperBound
                return piece
            } catch {
                throw SessionError(
                    .connectionLost, "The stored response could not be read: \(error.message)", underlying: error)
            }
        }
    }
}
