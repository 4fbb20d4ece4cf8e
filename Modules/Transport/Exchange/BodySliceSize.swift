internal import NIOCore

/// How much of a request's body is given to the socket at a time: about what it takes in a tenth of a second. A slow link
/// then takes each slice well within the idle time, and a fast one is not kept busy with small ones. Pure.
struct BodySliceSize {
    private static let (least, most) = (16 * 1024, 512 * 1024)

    private(set) var bytes = 256 * 1024

    /// The socket has taken a slice of this size in so much time.
    mutating func took(_ time: TimeAmount) {
        if time < .milliseconds(50) {
            bytes = min(bytes * 2, Self.most)
        } else if time > .milliseconds(200) {
            bytes = max(bytes / 2, Self.least)
        }
    }
}
