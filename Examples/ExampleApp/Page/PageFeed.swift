import FoundationEssentials

/// Sends each new state to all readers of the page.
@MainActor
final class PageFeed {
    private var shown: PageState?
    private var last: Data?
    private var readers: [Int: AsyncStream<Data>.Continuation] = [:]
    private var readerCount = 0

    /// The number of readers.
    var count: Int { readers.count }

    func publish(_ state: TimelineState) {
        let page = PageState(state)
        guard page != shown, let event = page.event else { return }
        (shown, last) = (page, event)
        for reader in readers.values { reader.yield(event) }
    }

    /// The current state, then each new one. A slow reader misses states, but never the last.
    func events() -> AsyncStream<Data> {
        let (events, reader) = AsyncStream.makeStream(of: Data.self, bufferingPolicy: .bufferingNewest(1))
        readerCount += 1
        let number = readerCount
        readers[number] = reader
        reader.onTermination = { [weak self] _ in
            Task { @MainActor in self?.readers[number] = nil }
        }
        if let last { reader.yield(last) }
        return events
    }

    func finish() {
        for reader in readers.values { reader.finish() }
        readers = [:]
    }
}
