/// The content of the server's `/json`, two kilobytes.
package struct Page: Decodable, Sendable {
    package struct Post: Decodable, Sendable {
        package var id: Int
        package var title: String
        package var author: String
        package var likes: Int
        package var score: Double
        package var isPinned: Bool
    }

    package var page: Int
    package var posts: [Post]

    /// Throws unless the page is complete.
    package func check() throws {
        guard posts.count == 18 else { throw Failure("\(posts.count) posts instead of 18") }
    }
}
