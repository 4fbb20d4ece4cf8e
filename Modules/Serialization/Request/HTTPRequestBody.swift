public import FoundationEssentials
import Synchronization

/// The content of a request: data, a file, or a stream that is read as the connection accepts it.
///
/// ```swift
/// let body = HTTPRequestBody.stream(length: nil, isReplayable: true) { try LogReader(path) }
/// ```
public struct HTTPRequestBody: Sendable {
    /// The exact number of bytes; nil if it is unknown, in which case the body is sent chunked.
    public var length: Int64?
    /// Whether ``makeReader()`` may be called again, which redirects, authentication and retries need.
    public var isReplayable: Bool
    /// Why the body cannot be replayed, such as the name of a part that is a stream; nil if it can, or if the reason
    /// is unknown.
    public var replayObstacle: String?

    private let source: Source

    /// Opens a source. The reader does blocking work on files on the given threads.
    package typealias ReaderMaker = @Sendable (FileThreads) throws -> any HTTPRequestBodyReader

    private enum Source: Sendable {
        case data(Data)
        case file(BodyFile)
        case stream(ReaderMaker)
        case once(SingleUse)
    }

    /// A replayable body in memory.
    public static func data(_ data: Data) -> HTTPRequestBody {
        HTTPRequestBody(length: Int64(data.count), isReplayable: true, source: .data(data))
    }

    /// A replayable body in a file, which is read while it is sent, with bounded memory.
    ///
    /// The size is determined now and sent as Content-Length. If the file is gone or its size differs when it is
    /// sent, sending fails with ``SerializationError/Code/bodyFileChanged``.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/bodyFileUnreadable`` if there is no readable
    ///   regular file, or with ``SerializationError/Code/invalidURL`` if the URL is not a file URL.
    public static func file(_ url: URL) throws(SerializationError) -> HTTPRequestBody {
        let file = try BodyFile(url)
        return HTTPRequestBody(length: file.size, isReplayable: true, source: .file(file))
    }

    /// A body from a reader.
    ///
    /// - Parameters:
    /// - length: The exact number of bytes; nil if it is unknown.
    /// - isReplayable: Whether `makeReader` gives the same bytes each time. If false, it is called once.
    /// - replayObstacle: Why the body cannot be replayed, for error messages.
    /// - makeReader: Opens the source when the body is sent.
    public static func stream(
        length: Int64?,
        isReplayable: Bool,
        replayObstacle: String? = nil,
        makeReader: @escaping @Sendable () throws -> any HTTPRequestBodyReader
    ) -> HTTPRequestBody {
        stream(
            length: length, isReplayable: isReplayable, replayObstacle: replayObstacle,
            readingFiles: { _ in try makeReader() })
    }

    /// A body from a reader that also reads files.
    package static func stream(
        length: Int64?, isReplayable: Bool, replayObstacle: String?, readingFiles makeReader: @escaping ReaderMaker
    ) -> HTTPRequestBody {
        let source: Source = isReplayable ? .stream(makeReader) : .once(SingleUse(makeReader))
        return HTTPRequestBody(
            length: length,
            isReplayable: isReplayable,
            replayObstacle: isReplayable ? nil : replayObstacle,
            source: source
        )
    }

    /// The bytes of a body in memory; nil for other bodies.
    public var data: Data? {
        if case .data(let data) = source { data } else { nil }
    }

    /// The file of a body in a file; nil for other bodies.
    package var file: BodyFile? {
        if case .file(let file) = source { file } else { nil }
    }

    /// Whether ``makeReader()`` can open the source: always if the body is replayable, otherwise until the first
    /// call.
    package var canBeRead: Bool {
        if case .once(let once) = source { once.isThere } else { true }
    }

    /// Returns a reader at the first byte of the body.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/bodyNotReplayable`` if the body was read
    ///   before and is not replayable; otherwise the source's error.
    public func makeReader() throws -> any HTTPRequestBodyReader {
        try makeReader(readingFilesOn: .callers)
    }

    /// Returns a reader that does blocking work on files on the given threads.
    package func makeReader(readingFilesOn threads: FileThreads) throws -> any HTTPRequestBodyReader {
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

/// Hands out a closure once, among all copies of a body.
private final class SingleUse: Sendable {
    private let closure: Mutex<HTTPRequestBody.ReaderMaker?>

    init(_ closure: @escaping HTTPRequestBody.ReaderMaker) { self.closure = Mutex(closure) }

    var isThere: Bool { closure.withLock { $0 != nil } }

    func take() -> HTTPRequestBody.ReaderMaker? {
        closure.withLock { held in
            defer { held = nil }
            return held
        }
    }
}
