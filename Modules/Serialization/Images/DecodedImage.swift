/// A decoded image, of any library: a bitmap of `LinnetImageSerialization`, a texture, or a type of your own.
///
/// ```swift
/// extension Texture: DecodedImage {
///     var byteCount: Int { width * height * 4 }
/// }
/// ```
public protocol DecodedImage: Sendable {
    /// The memory that the decoded image takes, in bytes. Caches of images are limited by the sum of it, so it must not
    /// change.
    var byteCount: Int { get }
}
