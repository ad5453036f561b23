/* Readers of labelled images: what fits to the byte is read, everything else is refused. */
#include "../support/testing.h"
#include "tacit/data.h"
#include "../support/skip.h"
#include "../support/temp.h"

#define ROW 3073u

static char images_path[TEMP_PATH_BYTES];
static char labels_path[TEMP_PATH_BYTES];

static int open_folder(void **state)
{
    (void)temp_folder_make(state);
    temp_path(images_path, temp_folder, "images");
    temp_path(labels_path, temp_folder, "labels");
    return 0;
}

/* Two images of 2 x 3. */
static const unsigned char idx_images[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2,  0,  0,
                                           0, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 255};
static const unsigned char idx_labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 9, 0};

TEST(idx_pair_is_read_to_the_byte)
{
    struct tacit_images images;
    struct tacit_error error;
    temp_file_write_bytes(temp_folder, "images", idx_images, sizeof idx_images);
    temp_file_write_bytes(temp_folder, "labels", idx_labels, sizeof idx_labels);
    assert_int_equal(tacit_images_read_idx(&images, images_path, labels_path, &error), TACIT_OK);
    assert_int_equal(images.count, 2);
    assert_int_equal(images.channels, 1);
    assert_int_equal(images.height, 2);
    assert_int_equal(images.width, 3);
    assert_memory_equal(images.pixels, idx_images + 16, 12);
    assert_memory_equal(images.labels, idx_labels + 8, 2);
    tacit_images_free(&images);
}

/* Writes a damaged pair: `byte` of one file is `value`, or the file ends before it. */
static void expect_refusal(bool in_labels, size_t byte, int value, const char *words)
{
    unsigned char pixels[sizeof idx_images];
    unsigned char labels[sizeof idx_labels];
    struct tacit_images images;
    struct tacit_error error;
    memcpy(pixels, idx_images, sizeof pixels);
    memcpy(labels, idx_labels, sizeof labels);
    size_t pixel_size = sizeof pixels;
    size_t label_size = sizeof labels;
    if (value < 0)
        *(in_labels ? &label_size : &pixel_size) = byte;
    else
        (in_labels ? labels : pixels)[byte] = (unsigned char)value;
    temp_file_write_bytes(temp_folder, "images", pixels, pixel_size);
    temp_file_write_bytes(temp_folder, "labels", labels, label_size);
    assert_int_equal(tacit_images_read_idx(&images, images_path, labels_path, &error),
                     TACIT_INVALID);
    assert_non_null(strstr(error.text, words));
    assert_non_null(strstr(error.text, in_labels ? "labels" : "images"));
}

TEST(damaged_idx_files_are_refused)
{
    expect_refusal(false, 3, 1, "does not begin with");
    expect_refusal(false, 15, -1, "does not begin with");
    expect_refusal(false, 0, -1, "does not begin with");
    expect_refusal(false, 7, 3, "it says 3 images");
    expect_refusal(false, 7, 0, "it says 0 images");
    expect_refusal(false, 11, 0, "of 0 x 3");
    expect_refusal(false, 8, 255, "it says 2 images");
    expect_refusal(false, 27, -1, "has 11 bytes");
    expect_refusal(true, 3, 3, "does not begin with");
    expect_refusal(true, 7, 1, "it says 1 labels");
    expect_refusal(true, 9, -1, "has 1, for 2 images");
    expect_refusal(true, 8, 10, "label 10 of image 0; 0 to 9");
}

TEST(cifar_files_follow_one_on_the_other)
{
    unsigned char *const rows = testing_calloc(3, ROW);
    for (uint32_t i = 0; i < 3; i++) {
        rows[i * ROW] = (unsigned char)(i + 4);
        rows[i * ROW + 1] = (unsigned char)(10 * i + 1);
        rows[i * ROW + ROW - 1] = (unsigned char)(10 * i + 2);
    }
    temp_file_write_bytes(temp_folder, "images", rows, 2 * ROW);
    temp_file_write_bytes(temp_folder, "labels", rows + 2 * ROW, ROW);
    const char *const paths[] = {images_path, labels_path};
    struct tacit_images images;
    struct tacit_error error;
    assert_int_equal(tacit_images_read_cifar10(&images, paths, 2, &error), TACIT_OK);
    assert_int_equal(images.count, 3);
    assert_int_equal(images.channels * images.height * images.width, ROW - 1);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(images.labels[i], i + 4);
        assert_int_equal(images.pixels[i * (ROW - 1)], 10 * i + 1);
        assert_int_equal(images.pixels[i * (ROW - 1) + ROW - 2], 10 * i + 2);
    }
    tacit_images_free(&images);
    temp_file_write_bytes(temp_folder, "labels", rows, ROW - 1);
    assert_int_equal(tacit_images_read_cifar10(&images, paths, 2, &error), TACIT_INVALID);
    assert_non_null(strstr(error.text, "no whole number of images"));
    rows[0] = 10;
    temp_file_write_bytes(temp_folder, "labels", rows, ROW);
    assert_int_equal(tacit_images_read_cifar10(&images, paths, 2, &error), TACIT_INVALID);
    assert_non_null(strstr(error.text, "label 10 of image 0"));
    temp_file_write_bytes(temp_folder, "labels", rows, 0);
    assert_int_equal(tacit_images_read_cifar10(&images, paths, 2, &error), TACIT_INVALID);
}

TEST(missing_files_are_named)
{
    struct tacit_images images;
    struct tacit_error error;
    assert_int_equal(tacit_images_read_idx(&images, temp_name("nowhere"), images_path, &error),
                     TACIT_IO);
    assert_non_null(strstr(error.text, "nowhere"));
}

#define MNIST_IMAGES "mnist/t10k-images-idx3-ubyte"
#define MNIST_LABELS "mnist/t10k-labels-idx1-ubyte"

/* The published test set begins with a 7, a 2, a 1, a 0 and a 4. */
TEST(mnist_is_as_published)
{
    char pixels[TACIT_PATH_BYTES];
    char labels[TACIT_PATH_BYTES];
    if (tacit_dataset_find(NULL, MNIST_IMAGES, pixels) != TACIT_OK ||
        tacit_dataset_find(NULL, MNIST_LABELS, labels) != TACIT_OK)
        SKIP_BECAUSE("no data set " MNIST_IMAGES " here");
    struct tacit_images images;
    struct tacit_error error;
    assert_int_equal(tacit_images_read_idx(&images, pixels, labels, &error), TACIT_OK);
    static const uint8_t first[] = {7, 2, 1, 0, 4};
    assert_int_equal(images.count, 10000);
    assert_int_equal(images.height, 28);
    assert_memory_equal(images.labels, first, sizeof first);
    tacit_images_free(&images);
}

int main(void)
{
    return testing_run(open_folder, temp_folder_remove);
}
