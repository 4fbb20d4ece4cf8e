public import Foundation
public import LinnetSession

/// A post.
public struct Post: Codable, Sendable, Equatable {
    /// The number of the post.
    public var id: Int
    /// The title.
    public var title: String

    /// Creates a post.
    public init(id: Int, title: String) {
        self.id = id
        self.title = title
    }
}

/// A client of an API with posts.
public struct PostsClient: Sendable {
    private let session: HTTPSession

    /// - Parameter configure: Changes the configuration, in tests and for a program's own needs.
    public init(
        baseURL: URL, configure: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) throws {
        session = try HTTPSession(baseURL: baseURL) {
            $0.timeouts.request = .seconds(10)
            // A GET is sent again after a lost connection or a 503.
            $0.retryPolicy = RetryPolicy(limit: 2)
            try configure(&$0)
        }
    }

    /// Returns all posts.
    public func posts() async throws(SessionError) -> [Post] {
        try await session.get("posts").value()
    }

    /// Creates a post, and returns it as the server has stored it.
    public func create(_ post: Post) async throws(SessionError) -> Post {
        try await session.post("posts", json: post).value()
    }

    /// Finishes the requests, and closes the connections.
    public func shutdown() async { await session.shutdown() }
}
