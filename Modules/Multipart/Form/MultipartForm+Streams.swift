public import FoundationEssentials
public import LinnetSerialization

extension MultipartForm {
    /// Adds a part from any body.
    ///
    /// - Parameters:
    ///   - body: The content. It says whether its length is known, and whether it can be read again.
    ///   - name: The part's name.
    ///   - fileName: The name of the file that it is to the server, if it is one.
    ///   - contentType: Treated as ``append(_:name:fileName:contentType:)-(Data,_,_,_)`` does.
    public mutating func append(
        _ body: HTTPBody, name: String, fileName: String? = nil, contentType: String? = nil
    ) {
        checkContentType(contentType, name: name)
        if let length = body.length, length < 0 {
            record(
                MultipartError(
                    code: .lengthMismatch,
                    message: "The length \(length) of the part \(name.debugDescription) is negative.", partName: name,
                    partIndex: count))
        }
        append(FormPart(name: name, fileName: fileName, contentType: contentType, content: content(of: body)))
    }

    /// Adds a part that is pulled from a reader.
    ///
    /// - Parameters:
    ///   - makeReader: Opens the stream when the part's turn comes.
    ///   - name: The part's name.
    ///   - fileName: The name of the file that it is to the server, if it is one.
    ///   - contentType: Treated as ``append(_:name:fileName:contentType:)-(Data,_,_,_)`` does.
    ///   - length: The exact number of bytes; nil if it is not known, and the whole body goes out chunked. Another
    ///     number makes reading throw ``MultipartError/Code/lengthMismatch``.
    ///   - isReplayable: Whether `makeReader` gives the same bytes each time; if not, it is called once only.
    public mutating func append(
        stream makeReader: @escaping @Sendable () throws -> any HTTPBodyReader,
        name: String,
        fileName: String? = nil,
        contentType: String? = nil,
        length: Int64?,
        isReplayable: Bool
    ) {
        let body = HTTPBody.stream(length: length, isReplayable: isReplayable, makeReader: makeReader)
        append(body, name: name, fileName: fileName, contentType: contentType)
    }

    /// Adds a part from an async sequence of chunks.
    ///
    /// - Parameters:
    ///   - chunks: The content. It is iterated when the part's turn comes.
    ///   - name: The part's name.
    ///   - fileName: The name of the file that it is to the server, if it is one.
    ///   - contentType: Treated as ``append(_:name:fileName:contentType:)-(Data,_,_,_)`` does.
    ///   - length: The exact number of bytes, or nil if it is not known; see
    ///     ``append(stream:name:fileName:contentType:length:isReplayable:)``.
    ///   - isReplayable: Whether the sequence gives the same bytes each time. The default is false.
    public mutating func append<Chunks: AsyncSequence & Sendable>(
        chunks: Chunks, name: String, fileName: String? = nil, contentType: String? = nil, length: Int64?,
        isReplayable: Bool = false
    ) where Chunks.Element: DataProtocol {
        let body = HTTPBody.chunks(chunks, length: length, isReplayable: isReplayable)
        append(body, name: name, fileName: fileName, contentType: contentType)
    }

    /// Adds a part from an async sequence of bytes; see
    /// ``append(chunks:name:fileName:contentType:length:isReplayable:)``.
    public mutating func append<Bytes: AsyncSequence & Sendable>(
        bytes: Bytes, name: String, fileName: String? = nil, contentType: String? = nil, length: Int64?,
        isReplayable: Bool = false
    ) where Bytes.Element == UInt8 {
        let body = HTTPBody.bytes(bytes, length: length, isReplayable: isReplayable)
        append(body, name: name, fileName: fileName, contentType: contentType)
    }
}
