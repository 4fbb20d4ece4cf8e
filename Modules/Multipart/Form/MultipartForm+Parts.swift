public import FoundationEssentials
public import HTTPTypes
internal import LinnetMessages
public import LinnetSerialization

extension MultipartForm {
    /// Appends data without a file name and a content type, the form of a text field.
    public mutating func append(_ data: Data, name: String) {
        append(FormPart(name: name, fileName: nil, contentType: nil, content: .data(data)))
    }

    /// Appends a text in UTF-8.
    ///
    /// - Parameters:
    ///   - text: The content.
    ///   - name: The part's name.
    ///   - fileName: The file name for the server; nil if it is not a file.
    ///   - contentType: The media type, checked as in ``append(_:name:fileName:contentType:)-(Data,_,_,_)``. The
    ///     default is none, which means `text/plain` in UTF-8 (RFC 7578, section 4.4).
    public mutating func append(
        _ text: String, name: String, fileName: String? = nil, contentType: String? = nil
    ) {
        append(Data(text.utf8), name: name, fileName: fileName, contentType: contentType)
    }

    /// Appends data as a file.
    ///
    /// A malformed `contentType` is reported by ``validate()`` and when the body is read, with
    /// ``MultipartError/Code/invalidContentType``.
    public mutating func append(_ data: Data, name: String, fileName: String?, contentType: String?) {
        checkContentType(contentType, name: name)
        append(FormPart(name: name, fileName: fileName, contentType: contentType, content: .data(data)))
    }

    /// Appends a file, which is read while the body is sent.
    ///
    /// The size is determined now. If it differs when the file is read, reading fails with
    /// ``MultipartError/Code/fileChanged`` before the last bytes, so that a request never has a wrong Content-Length.
    ///
    /// - Parameters:
    ///   - url: A `file:` URL of a regular file.
    ///   - name: The part's name.
    ///   - fileName: The file name for the server; the default is the last component of the path.
    ///   - contentType: The media type; the default is the type of the path extension in ``mimeTypes``.
    /// - Throws: ``MultipartError`` with ``MultipartError/Code/unreadableFile`` or
    ///   ``MultipartError/Code/invalidContentType``.
    public mutating func append(
        fileAt url: URL,
        name: String,
        fileName: String? = nil,
        contentType: String? = nil
    ) throws(MultipartError) {
        if let contentType, let error = contentTypeError(contentType, name: name) { throw error }
        append(
            FormPart(
                name: name,
                fileName: fileName ?? url.lastPathComponent,
                contentType: contentType ?? mimeTypes.type(forPathExtension: url.pathExtension),
                content: .file(try file(at: url, name: name))
            )
        )
    }

    /// Appends data with the given header fields only.
    public mutating func append(headerFields: HTTPFields, body: Data) {
        append(FormPart(headerFields: headerFields, content: .data(body)))
    }

    /// Appends any body with the given header fields only: a file, a stream, or the body of another form, which nests
    /// it.
    ///
    /// ```swift
    /// var message = MultipartForm(subtype: .mixed)
    /// message.append(headerFields: [.contentType: album.contentType], body: album.makeBody())
    /// ```
    public mutating func append(headerFields: HTTPFields, body: HTTPRequestBody) {
        append(FormPart(headerFields: headerFields, content: content(of: body)))
    }

    /// Recognizes data and files, so that the boundary and sizes are checked.
    func content(of body: HTTPRequestBody) -> FormPart.Content {
        if let data = body.data { return .data(data) }
        return body.file.map(FormPart.Content.file) ?? .stream(body)
    }

    mutating func checkContentType(_ contentType: String?, name: String) {
        if let contentType, let error = contentTypeError(contentType, name: name) { record(error) }
    }

    private func file(at url: URL, name: String) throws(MultipartError) -> BodyFile {
        do {
            return try BodyFile(url)
        } catch {
            throw MultipartError(
                code: .unreadableFile, message: error.message, partName: name, partIndex: count,
                underlying: error.underlying ?? error)
        }
    }

    private func contentTypeError(_ contentType: String, name: String) -> MultipartError? {
        guard !MIMEType.isWellFormed(contentType) else { return nil }
        return MultipartError(
            code: .invalidContentType,
            message:
                "The content type \(contentType.debugDescription) of the part \(name.debugDescription) is not a media type.",
            partName: name, partIndex: count
        )
    }
}

extension MultipartForm {
    /// Appends any body.
    ///
    /// - Parameters:
    ///   - body: The content, with its length if it is known.
    ///   - name: The part's name.
    ///   - fileName: The file name for the server; nil if it is not a file.
    ///   - contentType: The media type, checked as in ``append(_:name:fileName:contentType:)-(Data,_,_,_)``.
    public mutating func append(
        _ body: HTTPRequestBody, name: String, fileName: String? = nil, contentType: String? = nil
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

    /// Appends a stream.
    ///
    /// - Parameters:
    ///   - makeReader: Opens the stream when the body is read up to the part.
    ///   - name: The part's name.
    ///   - fileName: The file name for the server; nil if it is not a file.
    ///   - contentType: The media type, checked as in ``append(_:name:fileName:contentType:)-(Data,_,_,_)``.
    ///   - length: The exact number of bytes; nil if it is unknown, in which case the whole body is sent chunked. If
    ///     the stream has another length, reading fails with ``MultipartError/Code/lengthMismatch``.
    ///   - isReplayable: Whether `makeReader` gives the same bytes each time. If false, it is called once.
    public mutating func append(
        stream makeReader: @escaping @Sendable () throws -> any HTTPRequestBodyReader,
        name: String,
        fileName: String? = nil,
        contentType: String? = nil,
        length: Int64?,
        isReplayable: Bool
    ) {
        let body = HTTPRequestBody.stream(length: length, isReplayable: isReplayable, makeReader: makeReader)
        append(body, name: name, fileName: fileName, contentType: contentType)
    }

    /// Appends an async sequence of chunks.
    ///
    /// - Parameters:
    ///   - chunks: The content. Iteration starts when the body is read up to the part.
    ///   - name: The part's name.
    ///   - fileName: The file name for the server; nil if it is not a file.
    ///   - contentType: The media type, checked as in ``append(_:name:fileName:contentType:)-(Data,_,_,_)``.
    ///   - length: The exact number of bytes; nil if it is unknown; see
    ///     ``append(stream:name:fileName:contentType:length:isReplayable:)``.
    ///   - isReplayable: Whether each iteration gives the same bytes. The default is false.
    public mutating func append<Chunks: AsyncSequence & Sendable>(
        chunks: Chunks, name: String, fileName: String? = nil, contentType: String? = nil, length: Int64?,
        isReplayable: Bool = false
    ) where Chunks.Element: DataProtocol {
        let body = HTTPRequestBody.chunks(chunks, length: length, isReplayable: isReplayable)
        append(body, name: name, fileName: fileName, contentType: contentType)
    }

    /// Appends an async sequence of bytes; see ``append(chunks:name:fileName:contentType:length:isReplayable:)``.
    public mutating func append<Bytes: AsyncSequence & Sendable>(
        bytes: Bytes, name: String, fileName: String? = nil, contentType: String? = nil, length: Int64?,
        isReplayable: Bool = false
    ) where Bytes.Element == UInt8 {
        let body = HTTPRequestBody.bytes(bytes, length: length, isReplayable: isReplayable)
        append(body, name: name, fileName: fileName, contentType: contentType)
    }
}

extension MultipartForm {
    /// Appends a part for each plain value of the parameters, with the names and the order of a form (see
    /// `QueryEncoder`).
    ///
    /// Data stays raw, null becomes an empty part, and other values become their text.
    ///
    /// - Throws: ``MultipartError`` with ``MultipartError/Code/invalidParameters`` if the parameters have no names.
    public mutating func append(
        _ parameters: RequestParameters,
        encoder: QueryEncoder = QueryEncoder()
    ) throws(MultipartError) {
        let entries: [ParameterValue.Entry]
        do {
            entries = try encoder.flatten(parameters)
        } catch {
            throw MultipartError(code: .invalidParameters, message: error.message, underlying: error)
        }
        for entry in entries {
            if case .data(let data) = entry.value {
                append(data, name: entry.key)
            } else {
                append(Data(encoder.text(of: entry.value).utf8), name: entry.key)
            }
        }
    }

    /// Appends a part for each plain value of an `Encodable` value, by the same rules.
    ///
    /// ```swift
    /// try form.append(encoding: Post(title: "Linnet", tags: ["bird", "small"]))  // title, tags[], tags[]
    /// ```
    /// - Parameters:
    ///   - value: The value to encode, which must have names at the top level.
    ///   - parameterEncoder: Encodes dates, data and the names of properties.
    ///   - encoder: Joins names, and writes Booleans and null.
    /// - Throws: ``MultipartError`` with ``MultipartError/Code/invalidParameters`` if the value cannot be encoded.
    public mutating func append(
        encoding value: some Encodable,
        parameterEncoder: ParameterEncoder = ParameterEncoder(),
        encoder: QueryEncoder = QueryEncoder()
    ) throws(MultipartError) {
        let parameters: RequestParameters
        do {
            parameters = try parameterEncoder.encode(value)
        } catch {
            throw MultipartError(code: .invalidParameters, message: error.message, underlying: error)
        }
        try append(parameters, encoder: encoder)
    }
}
