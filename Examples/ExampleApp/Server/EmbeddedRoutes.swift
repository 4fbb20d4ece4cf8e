import FoundationEssentials
import HTTPTypes
import Linnet
import LinnetImageSerialization
import LinnetTesting

/// The responses of the embedded server.
struct EmbeddedRoutes: Sendable {
    /// Whether an attachment takes half a minute instead of a few seconds.
    let isSlow: Bool
    /// The time from which the ages of the posts are counted.
    let start: Date

    var routes: MockServer.Routes {
        MockServer.Routes {
            $0.on(.get, "/" + TimelineClient.path, respond: timeline)
            $0.on(.get, "/avatars/*", respond: avatar)
            $0.on(.get, "/attachments/*", respond: attachment)
            $0.on(.post, "/" + TimelineClient.uploadPath) {
                .json("{\"bytes\":\($0.bodyLength)}", status: .created)
            }
        }
    }

    /// The timeline may be kept for two seconds. Without changes it is confirmed by its entity tag.
    private func timeline(_ request: RecordedRequest) async -> MockResponse {
        let tag = "\"\(Int(start.timeIntervalSince1970))-\(request.query ?? "")\""
        let fields: HTTPFields = [.cacheControl: "max-age=2", .eTag: tag]
        if request.headerFields[.ifNoneMatch] == tag { return MockResponse(status: .notModified, headerFields: fields) }
        let count = request.query.flatMap { Int($0.dropFirst("count=".count)) } ?? .max
        let posts = SamplePosts.posts(at: start, host: request.authority ?? "localhost").prefix(max(0, count))
        var encoder = JSONBodyEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        guard let json = try? encoder.encode(Timeline(data: Array(posts))) else { return .status(.internalServerError) }
        var response = MockResponse.json(String(decoding: json, as: UTF8.self))
        response.headerFields.append(contentsOf: fields)
        return response
    }

    private func avatar(_ request: RecordedRequest) async -> MockResponse {
        let name = Self.name(in: request)
        guard SamplePosts.names.contains(name), let png = try? SampleAvatar.picture(name)?.pngData() else {
            return .status(.notFound)
        }
        return MockResponse(
            headerFields: [.contentType: "image/png", .cacheControl: "max-age=600"], body: .bytes(png))
    }

    /// The bytes 0 to 255 again and again, or the rest of them for a download that goes on.
    private func attachment(_ request: RecordedRequest) async -> MockResponse {
        let bytes = Data((0..<SamplePosts.attachmentSize).map { UInt8(truncatingIfNeeded: $0) })
        let tag = "\"\(Self.name(in: request))\""
        let fields: HTTPFields = [.contentType: "application/octet-stream", .eTag: tag, .acceptRanges: "bytes"]
        var response = MockResponse(headerFields: fields, body: .bytes(bytes))
        response.throttle = MockResponse.Throttle(
            bytes: isSlow ? 16 << 10 : 64 << 10, pause: .milliseconds(isSlow ? 150 : 50))
        // `bytes=FIRST-`
        let range = request.headerFields[.ifRange] ?? tag == tag ? request.headerFields[.range] : nil
        let first = range.flatMap { Int($0.dropFirst("bytes=".count).prefix(while: \.isNumber)) } ?? 0
        if (1..<bytes.count).contains(first) {
            response.status = .partialContent
            response.headerFields[.contentRange] = "bytes \(first)-\(bytes.count - 1)/\(bytes.count)"
            response.body = .bytes(bytes.dropFirst(first))
        }
        return response
    }

    /// The last component of the path, without its extension.
    private static func name(in request: RecordedRequest) -> String {
        let last = request.path.split(separator: "/").last ?? ""
        return String(last.split(separator: ".").first ?? "")
    }
}
