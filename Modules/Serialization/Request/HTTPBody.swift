public import FoundationEssentials
import Synchronization

/// A request's content: bytes in memory, a file, or a stream that is pulled as the connection takes it.
///
/// ```swift
/// let body = HTTPBody.stream(length: nil, isReplayable: true) { try LogReader(path) }
/// ```
public struct HTTPBody: Sendable {
    /// The exact number of bytes if it is known; nil sends the body chunked.
    public var length: Int64?
    /// Whether ``makeReader()`` may be called again, as redirects, authentication and retries need.
    public var isReplayable: Bool
    /// Why the body cannot be replayed, in words, such as the name of the part that is a stream; nil if it can, or if
    /// nothing more is known.
    public var replayObstacle: String?

    private let source: Source

    /// Opens a source, whose reader does what may block on a file on the given threads.
    package typealias ReaderMaker = @Sendable (FileThreads) throws -> any HTTPBodyReader

    private enum Source: Sendable {
        case data(Data)
        case file(BodyFile)
        case stream(ReaderMaker)
        case once(SingleUse)
    }

    /// A body in memory, which can be replayed.
    public static func data(_ data: Data) -> HTTPBody {
        HTTPBody(length: Int64(data.count), isReplayable: true, source: .data(data))
    }

    /// A body in a file, which is read while it is sent, and can be replayed. Memory does not grow with it.
    ///
    /// Its size is taken now, and sent as the Content-Length. When the file is gone by the time it is sent, or has another
    /// size then or at its end, sending fails with ``SerializationError/Code/bodyFileChanged``.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/bodyFileUnreadable`` when there is no regular file
    ///   that may be read, or ``SerializationError/Code/invalidURL`` when the URL is not one of a file.
    public static func file(_ url: URL) throws(SerializationError) -> HTTPBody {
        let file = try BodyFile(url)
        return HTTPBody(length: file.size, isReplayable: true, source: .file(file))
    }

    /// A body that is pulled from a reader.
    ///
    /// - Parameters:
    ///   - length: The exact number of bytes, or nil if it is not known.
    ///   - isReplayable: Whether `makeReader` gives the same bytes each time. If it does not, it is called once only.
    ///   - replayObstacle: Why it cannot be replayed, for the error of whoever tries.
    ///   - makeReader: Opens the source. It is called when the body is sent, not before.
    public static func stream(
        length: Int64?,
        isReplayable: Bool,
        replayObstacle: String? = nil,
        makeReader: @escaping @Sendable () throws -> any HTTPBodyReader
    ) -> HTTPBody {
        stream(
            length: length, isReplayable: isReplayable, replayObstacle: replayObstacle,
            readingFiles: { _ in try makeReader() })
    }

    /// A body that is pulled from a reader which also reads files.
    package static func stream(
        length: Int64?, isReplayable: Bool, replayObstacle: String?, readingFiles makeReader: @escaping ReaderMaker
    ) -> HTTPBody {
        let source: Source = isReplayable ? .stream(makeReader) : .once(SingleUse(makeReader))
        return HTTPBody(
            length: length,
            isReplayable: isReplayable,
            replayObstacle: isReplayable ? nil : replayObstacle,
            source: source
        )
    }

    /// The bytes if the body is in memory, otherwise nil.
    public var data: Data? {
        if case .data(let data) = source { data } else { nil }
    }

    /// The file if the body is one, otherwise nil.
    package var file: BodyFile? {
        if case .file(let file) = source { file } else { nil }
    }

    /// Whether ``makeReader()`` would open the source now: always for a body that can be replayed, otherwise until it was
    /// called.
    package var canBeRead: Bool {
        if case .once(let once) = source { once.isThere } else { true }
    }

    /// Returns a reader that starts at the body's first byte.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/bodyNotReplayable`` when the body can be read
    ///   once only and was; otherwise what the source throws when it is opened.
    public func makeReader() throws -> any HTTPBodyReader {
        try makeReader(readingFilesOn: .callers)
    }

    /// Returns a reader as ``makeReader()`` does, which does what may block on a file on the given threads.
    package func makeReader(readingFilesOn threads: FileThreads) throws -> any HTTPBodyReader {
        switch source {
        case .data(let data): return DataBodyReader(data)
        case .file(let file): return try FileBodyReader(file, on: threads)
        case .stream(let makeReader): return try makeReader(threads)
        case .once(let once):
            guard let makeReader = once.take() else {
                throw SerializationError(
                    code: .bodyNotReplayable,
                    message: "The body cannot be sent again: \(replayObstacle ?? "its stream can be read only once")."
                )
            }
            return try makeReader(threads)
        }
    }
}

/// Hands a closure out once, whichever copy of the body asks.
private final class SingleUse: Sendable {
    private let closure: Mutex<HTTPBody.ReaderMaker?>

    init(_ closure: @escaping HTTPBody.ReaderMaker) { self.closure = Mutex(closure) }

    var isThere: Bool { closure.withLock { $0 != nil } }

    func take() -> HTTPBody.ReaderMaker? {
        closure.withLock { held in
            defer { held = nil }
            return held
        }
    }
}
