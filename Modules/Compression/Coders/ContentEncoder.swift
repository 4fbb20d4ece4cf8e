public import FoundationEssentials

/// Applies a coding to one content as it is made, in pieces of at most 64 KiB.
///
/// ```swift
/// let encoder = try ContentEncoder(.gzip)
/// encoder.append(bytes)
/// while let piece = try encoder.next() { write(piece) }
/// encoder.finish()
/// while let piece = try encoder.next() { write(piece) }
/// ```
/// The coding holds bytes back until it has enough of them, or until the content ends.
public final class ContentEncoder {
    private static let pieceSize = 64 * 1024

    private var stage: TransformStage
    private var isEnd = false
    private var isFinished = false
    private let room: UnsafeMutableRawBufferPointer

    /// Creates an encoder.
    ///
    /// - Throws: ``CompressionError`` with ``CompressionError/Code/noEncoder`` if the coding can be decoded only, or with the failure
    ///   of its library.
    public init(_ coding: ContentCoding) throws(CompressionError) {
        guard let makeEncoder = coding.makeEncoder else {
            throw CompressionError(code: .noEncoder, message: "The content coding \(coding.name) can be decoded only.")
        }
        stage = TransformStage(try makeEncoder())
        // Last: what a failure of the initializer leaves behind is not deinitialized.
        room = .allocate(byteCount: Self.pieceSize, alignment: 16)
    }

    deinit { room.deallocate() }

    /// Adds bytes of the content.
    public func append(_ bytes: Data) { stage.append(bytes) }

    /// Ends the content with the bytes that were added.
    public func finish() { isEnd = true }

    /// The next piece of the encoded content; nil if more bytes are needed, or after its end.
    ///
    /// - Throws: ``CompressionError`` if the library of the coding fails.
    public func next() throws(CompressionError) -> Data? {
        while !isFinished, isEnd || !stage.needsInput {
            let count = try stage.step(isEnd: isEnd, into: room)
            isFinished = isEnd && stage.isComplete
            guard count > 0 || isFinished || !isEnd || !stage.needsInput else {
                throw .libraryFailed("of the program", "it does not end")
            }
            if count > 0 { return Data(UnsafeRawBufferPointer(rebasing: room[..<count])) }
        }
        return nil
    }
}
