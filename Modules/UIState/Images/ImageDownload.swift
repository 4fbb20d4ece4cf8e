public import LinnetSession
internal import Synchronization

/// A receipt for a requested image. Several receipts can share a download.
///
/// ```swift
/// let download = downloader.download(ImageRequest(url))
/// download.priority = .high
/// let image = try await download.value.image
/// ```
/// Cancelling a receipt does not affect others; the last one stops the download. Releasing it cancels nothing.
public final class ImageDownload<Image: DecodedImage>: Sendable, Identifiable {
    /// The image, or the error.
    public typealias Outcome = Result<ImageResponse<Image>, SessionError>

    /// An event of a download.
    public enum Event: Sendable {
        /// Bytes were received.
        case progress(TransferProgress)
        /// A part of the body was decoded; see ``ImageDownloader/Configuration/previewDecoder``.
        case preview(Image)
        /// The end: always delivered, last and exactly once.
        case completed(Result<ImageResponse<Image>, SessionError>)
    }

    private struct State {
        var outcome: Outcome?
        var priority: RequestPriority
        var progress: TransferProgress?
        var lastKey: UInt64 = 0
        var waiters: [UInt64: CheckedContinuation<Outcome, Never>] = [:]
        var readers: [UInt64: AsyncStream<Event>.Continuation] = [:]

        mutating func nextKey() -> UInt64 {
            lastKey += 1
            return lastKey
        }
    }

    /// An order of a receipt to its downloader.
    enum Order: Sendable {
        case cancel
        case setPriority(RequestPriority)
    }

    /// The receipt's ID, unique in its downloader.
    public let id: UInt64
    /// The request.
    public let request: ImageRequest<Image>
    private let state: Mutex<State>
    private let order: @Sendable (UInt64, Order) -> Void

    init(id: UInt64, request: ImageRequest<Image>, order: @escaping @Sendable (UInt64, Order) -> Void) {
        self.id = id
        self.request = request
        self.order = order
        state = Mutex(State(priority: request.priority))
    }

    /// The priority among waiting requests. A download has the highest priority of its receipts. It can be changed at
    /// any time, and takes effect while the request waits.
    public var priority: RequestPriority {
        get { state.withLock { $0.priority } }
        set {
            state.withLock { $0.priority = newValue }
            order(id, .setPriority(newValue))
        }
    }

    /// Ends the receipt with `SessionError.Code.cancelled`, unless it has already ended. The download stops when none
    /// of its receipts is left.
    public func cancel() { order(id, .cancel) }

    /// The image or the error; nil before the end.
    public var result: Outcome? { state.withLock { $0.outcome } }

    /// The image when it is available. It can be awaited more than once.
    ///
    /// Cancelling the awaiting task ends the wait with `SessionError.Code.cancelled`, and does not cancel the receipt.
    public var value: ImageResponse<Image> {
        get async throws(SessionError) { try await outcome().get() }
    }

    /// The progress so far, then each event, in order; ends after the completion. A slow reader misses intermediate
    /// events, never the last.
    public var events: AsyncStream<Event> {
        let (stream, continuation) = AsyncStream<Event>.makeStream(bufferingPolicy: .bufferingNewest(4))
        let (key, progress, outcome) = state.withLock { state in
            let key = state.nextKey()
            if state.outcome == nil { state.readers[key] = continuation }
            return (key, state.progress, state.outcome)
        }
        if let progress { continuation.yield(.progress(progress)) }
        if let outcome {
            continuation.yield(.completed(outcome))
            continuation.finish()
        } else {
            continuation.onTermination = { [weak self] _ in
                _ = self?.state.withLock { $0.readers.removeValue(forKey: key) }
            }
        }
        return stream
    }

    func outcome() async -> Outcome {
        let key = state.withLock { $0.nextKey() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known = state.withLock { state -> Outcome? in
                    if let outcome = state.outcome { return outcome }
                    // If the task was cancelled earlier, the cancellation handler has already run, and found no waiter.
                    if Task.isCancelled { return .failure(.cancelledImage(request.url)) }
                    state.waiters[key] = continuation
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: key) }
            waiter?.resume(returning: .failure(.cancelledImage(request.url)))
        }
    }

    // MARK: The downloader's side

    func report(_ progress: TransferProgress) {
        let readers = state.withLock { state in
            guard state.outcome == nil else { return [AsyncStream<Event>.Continuation]() }
            state.progress = progress
            return Array(state.readers.values)
        }
        for reader in readers { reader.yield(.progress(progress)) }
    }

    func deliver(preview: Image) {
        let readers = state.withLock { Array($0.readers.values) }
        for reader in readers { reader.yield(.preview(preview)) }
    }

    func finish(_ outcome: Outcome) {
        let (waiters, readers) = state.withLock { state in
            guard state.outcome == nil else {
                return ([CheckedContinuation<Outcome, Never>](), [AsyncStream<Event>.Continuation]())
            }
            state.outcome = outcome
            defer {
                state.waiters = [:]
                state.readers = [:]
            }
            return (state.waiters.sorted { $0.key < $1.key }.map { $0.value }, Array(state.readers.values))
        }
        for reader in readers {
            reader.yield(.completed(outcome))
            reader.finish()
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
    }
}
