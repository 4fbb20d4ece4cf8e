import FoundationEssentials
import HTTPTypes
import LinnetImageSerialization
import LinnetTesting

/// The responses of the embedded server.
struct EmbeddedRoutes: Sendable {
    let misbehavior: Misbehavior
    /// The time from which the ages of the posts are counted.
    let start: Date

    var routes: MockServer.Routes {
        MockServer.Routes {
            $0.on(.get, "/" + TimelineClient.path, respond: timeline)
            $0.on(.get, "/avatars/*", respond: avatar)
            $0.on(.get, "/attachments/*", respond: attachment)
            $0.on(.post, "/" + TimelineClient.uploadPath, respond: upload)
        }
    }

    /// The timeline may be kept for two seconds. Without changes it is confirmed by its entity tag.
    private func timeline(_ request: RecordedRequest) async -> MockResponse {
        let tag = "\"\(Int(start.timeIntervalSince1970))-\(request.query ?? "")\""
        let fields: HTTPFields = [.cacheControl: "max-age=2", .eTag: tag]
        if request.headerFields[.ifNoneMatch] == tag { return MockResponse(status: .notModified, headerFields: fields) }
        let posts = SamplePosts.posts(at: start, host: request.authority ?? "localhost")
        let page = Timeline(data: Array(posts.prefix(Self.count(in: request.query))))
        guard let json = try? JSONEncoder().encode(page) else { return .status(.internalServerError) }
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

    private func attachment(_ request: RecordedRequest) async -> MockResponse {
        let block = Data((0...UInt8.max).map { $0 })
        var bytes = Data(capacity: SamplePosts.attachmentSize)
        while bytes.count < SamplePosts.attachmentSize { bytes.append(block) }
        let tag = "\"\(Self.name(in: request))\""
        var fields: HTTPFields = [.contentType: "application/octet-stream", .eTag: tag, .acceptRanges: "bytes"]
        // The rest of a download that goes on: `bytes=FIRST-`.
        let range = request.headerFields[.ifRange] ?? tag == tag ? request.headerFields[.range] : nil
        let first = range.flatMap { Int($0.dropFirst("bytes=".count).prefix(while: \.isNumber)) } ?? 0
        guard first > 0, first < bytes.count else {
            return MockResponse(headerFields: fields, body: .bytes(bytes), throttle: misbehavior.throttle)
        }
        fields[.contentRange] = "bytes \(first)-\(bytes.count - 1)/\(bytes.count)"
        return MockResponse(
            status: .partialContent, headerFields: fields, body: .bytes(bytes.dropFirst(first)),
            throttle: misbehavior.throttle)
    }

    /// Reads a form, and answers with the number of its bytes.
    private func upload(_ request: RecordedRequest) async -> MockResponse {
        var count = 0
        do {
            for try await chunk in request.chunks {
                count += chunk.count
                try await Task.sleep(for: misbehavior.readingPause)
            }
        } catch {
            return .status(.badRequest)
        }
        return .json("{\"bytes\":\(count)}", status: .created)
    }

    /// The number of posts that the query requests, such as `count=20`; all posts without it.
    private static func count(in query: String?) -> Int {
        let items = query?.split(separator: "&").map { $0.split(separator: "=", maxSplits: 1) } ?? []
        let asked = items.last { $0.first == "count" }?.last.flatMap { Int($0) }
        return max(0, asked ?? .max)
    }

    /// The last component of the path, without its extension.
    private static func name(in request: RecordedRequest) -> String {
        let last = request.path.split(separator: "/").last ?? ""
        return String(last.split(separator: ".").first ?? "")
    }
}
