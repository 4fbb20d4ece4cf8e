internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetCompression
internal import LinnetJSON

/// Makes the content of a response, with its codings undone.
struct ContentMaker {
    private struct Decoded {
        var bytes = Data()
        var isTruncated = false
    }

    private let facts: SendRecord.Snapshot
    private let configuration: HARRecorder.Configuration

    init(_ facts: SendRecord.Snapshot, _ configuration: HARRecorder.Configuration) {
        self.facts = facts
        self.configuration = configuration
    }

    /// - Parameter room: The number of bytes that contents may still take.
    func content(_ room: inout Int) -> HAR.Content {
        let body = facts.responseBody
        let type = facts.response?.headerFields[.contentType] ?? ""
        let codings = codings
        var content = HAR.Content(size: body.count, mimeType: type)
        if let bytes = body.bytes {
            switch codings {
            case nil:
                set(Decoded(bytes: bytes, isTruncated: body.isTruncated), &content)
            case .success(let codings)?:
                if let decoded = decoded(bytes, codings, upTo: min(configuration.maximumBodySize, room)) {
                    room -= decoded.bytes.count
                    set(decoded, &content)
                    content.size = decoded.isTruncated ? -1 : decoded.bytes.count
                    if !decoded.isTruncated { content.compression = content.size - body.count }
                } else {
                    content = coded(body, type)
                }
            case .failure?:
                content = coded(body, type)
            }
        } else if codings != nil, body.count > 0 {
            content.size = -1
        }
        remark(on: &content)
        return content
    }

    /// The codings of the content; nil if it has none. A part of coded bytes cannot be decoded.
    private var codings: Result<[ContentCoding], CompressionError>? {
        guard let head = facts.response, let names = head.headerFields[.contentEncoding], facts.head.method != .head,
            head.status.code >= 200, ![204, 206, 304].contains(head.status.code)
        else { return facts.response?.headerFields[.contentEncoding] == nil ? nil : partOfCoded }
        do throws(CompressionError) {
            let codings = try ContentCoding.codings(in: names, among: configuration.contentCodings)
            return codings.isEmpty ? nil : .success(codings)
        } catch {
            return .failure(error)
        }
    }

    private var partOfCoded: Result<[ContentCoding], CompressionError>? {
        facts.responseBody.count == 0
            ? nil : .failure(CompressionError(code: .truncated, message: "The content is a part of coded bytes."))
    }

    private func coded(_ body: SendRecord.RecordedBytes, _ type: String) -> HAR.Content {
        var content = HAR.Content(size: body.count, mimeType: type)
        set(Decoded(bytes: body.bytes ?? Data(), isTruncated: body.isTruncated), &content)
        content.custom[CustomName.isCoded] = true
        content.comment = "The content is recorded in its coding, which could not be undone."
        return content
    }

    private func set(_ decoded: Decoded, _ content: inout HAR.Content) {
        content.set(decoded.isTruncated ? decoded.bytes.withoutPartOfCharacter : decoded.bytes)
        if decoded.isTruncated { content.custom[CustomName.isTruncated] = true }
    }

    /// Decodes content up to a size; nil if it is invalid.
    private func decoded(_ bytes: Data, _ codings: [ContentCoding], upTo limit: Int) -> Decoded? {
        let isWhole = !facts.responseBody.isTruncated && !facts.isUnread && facts.failure == nil
        var decoded = Decoded(isTruncated: facts.responseBody.isTruncated)
        do throws(CompressionError) {
            let decoder = try ContentDecoder(codings, limits: configuration.decodingLimits)
            decoder.append(bytes)
            while let piece = try decoder.next() {
                let kept = piece.prefix(max(0, limit - decoded.bytes.count))
                decoded.bytes += kept
                guard kept.count == piece.count else {
                    decoded.isTruncated = true
                    return decoded
                }
            }
            if isWhole { try decoder.finish() }
            return decoded
        } catch {
            return nil
        }
    }

    private func remark(on content: inout HAR.Content) {
        var remarks = [content.comment].compactMap { $0 }
        if content.custom[CustomName.isTruncated] != nil {
            remarks.append("The limits of the recorder truncated the body of \(facts.responseBody.count) bytes.")
        }
        if facts.isUnread {
            content.custom[CustomName.isUnread] = true
            remarks.append("The body was not read to its end.")
        }
        content.comment = remarks.isEmpty ? nil : remarks.joined(separator: " ")
    }
}
