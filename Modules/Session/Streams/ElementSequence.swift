/// Reads the elements of a response's body one after the other.
protocol ElementReader {
    associatedtype Element: Sendable

    /// Returns the next element, or nil at the end.
    mutating func next() async throws(SessionError) -> Element?
}

/// The elements of a body, in the order of their arrival. A streamed body has only one reader.
struct ElementSequence<Reader: ElementReader>: AsyncSequence, Sendable {
    typealias Element = Reader.Element
    typealias Failure = SessionError

    let makeReader: @Sendable () -> Reader

    func makeAsyncIterator() -> Iterator { Iterator(reader: makeReader()) }

    struct Iterator: AsyncIteratorProtocol {
        var reader: Reader

        mutating func next() async throws(SessionError) -> Element? { try await reader.next() }

        mutating func next(isolation actor: isolated (any Actor)?) async throws(SessionError) -> Element? {
            try await reader.next()
        }
    }
}
