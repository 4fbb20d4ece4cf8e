// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are those of clients for AFNetworking.

import Foundation
import LinnetAFNetworking

// The client of AFNetworking's articles, for a server of posts: a singleton that subclasses the session manager, and
// models that parse dictionaries. Only the import differs from a client for iOS.

final class AppDotNetAPIClient: AFHTTPSessionManager, @unchecked Sendable {
    static func client(for baseURL: URL) -> AppDotNetAPIClient {
        let client = AppDotNetAPIClient(baseURL: baseURL)
        client.securityPolicy = AFSecurityPolicy(pinningMode: .none)
        client.requestSerializer = AFHTTPRequestSerializer()
        client.responseSerializer = AFJSONResponseSerializer()
        client.requestSerializer.setValue("no-cache", forHTTPHeaderField: "Cache-Control")
        return client
    }
}

struct User {
    let userID: Int
    let username: String
    let avatarImageURL: URL?

    init(attributes: [String: Any]) {
        userID = (attributes["id"] as? NSString)?.integerValue ?? (attributes["id"] as? Int ?? 0)
        username = attributes["username"] as? String ?? ""
        let avatar = attributes["avatar_image"] as? [String: Any]
        avatarImageURL = (avatar?["url"] as? String).flatMap { URL(string: $0) }
    }
}

struct Post {
    let postID: Int
    let text: String
    let user: User

    init(attributes: [String: Any]) {
        postID = attributes["id"] as? Int ?? 0
        text = attributes["text"] as? String ?? ""
        user = User(attributes: attributes["user"] as? [String: Any] ?? [:])
    }

    @discardableResult
    static func globalTimelinePosts(
        client: AppDotNetAPIClient, block: @escaping @Sendable ([Post], (any Error)?) -> Void
    ) -> URLSessionDataTask? {
        client.get(
            "stream/0/posts/stream/global", parameters: nil, headers: nil, progress: nil,
            success: { _, JSON in
                let posts = (JSON as? [String: Any])?["data"] as? [[String: Any]] ?? []
                block(posts.map { Post(attributes: $0) }, nil)
            },
            failure: { _, error in block([], error) })
    }
}

/// A login and a request with its token, as apps with a JSON API have them.
final class SessionClient: AFHTTPSessionManager, @unchecked Sendable {
    func login(_ name: String, _ password: String, completion: @escaping @Sendable (Bool) -> Void) {
        requestSerializer = AFJSONRequestSerializer()
        post(
            "login", parameters: ["name": name, "password": password], progress: nil,
            success: { [weak self] _, object in
                guard let token = (object as? [String: Any])?["token"] as? String else { return completion(false) }
                self?.requestSerializer.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
                completion(true)
            }, failure: { _, _ in completion(false) })
    }
}
