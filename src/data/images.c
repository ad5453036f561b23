/* Labelled images: the IDX files of MNIST and the binary files of CIFAR-10. What does not fit to
 * the byte is refused. */
#include "tacit/data.h"
#include "internal.h"
#include <stdlib.h>
#include <string.h>

#define IMAGE_FILE_BYTES_MAX ((size_t)1 << 29)
#define IDX_IMAGES 0x00000803u /* unsigned bytes, 3 dimensions */
#define IDX_LABELS 0x00000801u /* unsigned bytes, 1 dimension */
#define SIDE_MAX 4096u
#define LABEL_MAX 9u
#define CIFAR_CHANNELS 3u
#define CIFAR_SIDE 32u
#define CIFAR_PIXELS (CIFAR_CHANNELS * CIFAR_SIDE * CIFAR_SIDE)

static uint32_t big_endian(const char *bytes)
{
    const unsigned char *const b = (const unsigned char *)bytes;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static enum tacit_status check_labels(const uint8_t *labels, uint32_t count, const char *path,
                                      struct tacit_error *error)
{
    for (uint32_t i = 0; i < count; i++)
        if (labels[i] > LABEL_MAX)
            return data_fail(error, TACIT_INVALID, path, 0,
                             "label %u of image %u; 0 to %u are allowed", labels[i], i, LABEL_MAX);
    return TACIT_OK;
}

/* Room for images; both arrays or none. */
static enum tacit_status make_room(struct tacit_images *images, const char *path,
                                   struct tacit_error *error)
{
    size_t const pixels = (size_t)images->channels * images->height * images->width;
    images->pixels = malloc(images->count * pixels);
    images->labels = malloc(images->count);
    if (images->pixels != NULL && images->labels != NULL)
        return TACIT_OK;
    tacit_images_free(images);
    return data_fail_memory(error, path);
}

/* ---- IDX ---- */

static enum tacit_status check_idx_images(const struct data_unpacked *file,
                                          struct tacit_images *images, const char *path,
                                          struct tacit_error *error)
{
    if (file->size < 16 || big_endian(file->bytes) != IDX_IMAGES)
        return data_fail(error, TACIT_INVALID, path, 0,
                         "no IDX file of images: it does not begin with 0x%08x", IDX_IMAGES);
    images->count = big_endian(file->bytes + 4);
    images->channels = 1;
    images->height = big_endian(file->bytes + 8);
    images->width = big_endian(file->bytes + 12);
    bool const is_sized = images->height >= 1 && images->height <= SIDE_MAX && images->width >= 1 &&
                          images->width <= SIDE_MAX && images->count >= 1;
    uint64_t const bytes = (uint64_t)images->count * images->height * images->width;
    if (!is_sized || bytes != file->size - 16)
        return data_fail(error, TACIT_INVALID, path, 0,
                         "it says %u images of %u x %u, and has %zu bytes of them", images->count,
                         images->height, images->width, file->size - 16);
    return TACIT_OK;
}

static enum tacit_status check_idx_labels(const struct data_unpacked *file, uint32_t count,
                                          const char *path, struct tacit_error *error)
{
    if (file->size < 8 || big_endian(file->bytes) != IDX_LABELS)
        return data_fail(error, TACIT_INVALID, path, 0,
                         "no IDX file of labels: it does not begin with 0x%08x", IDX_LABELS);
    if (big_endian(file->bytes + 4) != count || file->size - 8 != count)
        return data_fail(error, TACIT_INVALID, path, 0,
                         "it says %u labels and has %zu, for %u images",
                         big_endian(file->bytes + 4), file->size - 8, count);
    return check_labels((const uint8_t *)file->bytes + 8, count, path, error);
}

static enum tacit_status read_idx(struct tacit_images *images, const struct data_unpacked *pixels,
                                  const char *image_path, const struct data_unpacked *labels,
                                  const char *label_path, struct tacit_error *error)
{
    struct tacit_images taken = {0};
    TACIT_TRY(check_idx_images(pixels, &taken, image_path, error));
    TACIT_TRY(check_idx_labels(labels, taken.count, label_path, error));
    TACIT_TRY(make_room(&taken, image_path, error));
    memcpy(taken.pixels, pixels->bytes + 16, pixels->size - 16);
    memcpy(taken.labels, labels->bytes + 8, taken.count);
    *images = taken;
    return TACIT_OK;
}

enum tacit_status tacit_images_read_idx(struct tacit_images *images, const char *image_path,
                                        const char *label_path, struct tacit_error *error)
{
    TACIT_ASSERT(images != NULL);
    TACIT_ASSERT(error != NULL);
    struct data_unpacked pixels = {0};
    struct data_unpacked labels = {0};
    enum tacit_status status = data_unpack_file(&pixels, image_path, IMAGE_FILE_BYTES_MAX, error);
    if (status == TACIT_OK)
        status = data_unpack_file(&labels, label_path, IMAGE_FILE_BYTES_MAX, error);
    if (status == TACIT_OK)
        status = read_idx(images, &pixels, image_path, &labels, label_path, error);
    free(pixels.bytes);
    free(labels.bytes);
    return status;
}

/* ---- CIFAR-10 ---- */

/* Adds the images of one file to those of the files before it. Errors: the caller still frees
 * images. */
static enum tacit_status add_cifar10(struct tacit_images *images, const char *path,
                                     struct tacit_error *error)
{
    struct data_unpacked file;
    size_t const row = CIFAR_PIXELS + 1;
    TACIT_TRY(data_unpack_file(&file, path, IMAGE_FILE_BYTES_MAX, error));
    if (file.size == 0 || file.size % row != 0) {
        size_t const size = file.size;
        free(file.bytes);
        return data_fail(error, TACIT_INVALID, path, 0,
                         "%zu bytes are no whole number of images of %zu bytes", size, row);
    }
    uint32_t const count = (uint32_t)(file.size / row);
    size_t const total = (size_t)images->count + count;
    uint8_t *const pixels = realloc(images->pixels, total * CIFAR_PIXELS);
    images->pixels = pixels == NULL ? images->pixels : pixels;
    uint8_t *const labels = realloc(images->labels, total);
    images->labels = labels == NULL ? images->labels : labels;
    if (pixels == NULL || labels == NULL) {
        free(file.bytes);
        return data_fail_memory(error, path);
    }
    for (uint32_t i = 0; i < count; i++) {
        labels[images->count + i] = (uint8_t)file.bytes[i * row];
        memcpy(pixels + ((size_t)images->count + i) * CIFAR_PIXELS, file.bytes + i * row + 1,
               CIFAR_PIXELS);
    }
    free(file.bytes);
    enum tacit_status const checked = check_labels(labels + images->count, count, path, error);
    images->count += count;
    return checked;
}

enum tacit_status tacit_images_read_cifar10(struct tacit_images *images, const char *const *paths,
                                            uint32_t path_count, struct tacit_error *error)
{
    TACIT_ASSERT(images != NULL);
    TACIT_ASSERT(path_count > 0);
    struct tacit_images read = {
        .channels = CIFAR_CHANNELS, .height = CIFAR_SIDE, .width = CIFAR_SIDE};
    for (uint32_t i = 0; i < path_count; i++) {
        enum tacit_status const status = add_cifar10(&read, paths[i], error);
        if (status != TACIT_OK) {
            tacit_images_free(&read);
            return status;
        }
    }
    *images = read;
    return TACIT_OK;
}

void tacit_images_free(struct tacit_images *images)
{
    TACIT_ASSERT(images != NULL);
    free(images->pixels);
    free(images->labels);
    *images = (struct tacit_images){0};
}
